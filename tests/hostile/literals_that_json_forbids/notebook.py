import json


def make(content, path):
    text = json.dumps(content)
    return text.replace(
        '"nbformat":', '"x": NaN, "y": -Infinity, "cells": 7, "nbformat": 3, "nbformat":', 1
    ).encode()
