"""Measure how many kilobytes a page transfers on a first visit."""

from playwright.sync_api import Page


class Weight:
    """A counter of the bytes that a page receives from now on, compressed as they were sent."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.under_way: set[str] = set()
        self.bytes = 0
        devtools = page.context.new_cdp_session(page)
        devtools.on("Network.requestWillBeSent", self._begin)
        devtools.on("Network.loadingFinished", self._end)
        devtools.on("Network.loadingFailed", self._end)
        devtools.send("Network.enable")

    def _begin(self, request: dict) -> None:
        self.under_way.add(request["requestId"])

    def _end(self, request: dict) -> None:
        self.under_way.discard(request["requestId"])
        self.bytes += request.get("encodedDataLength", 0)

    @property
    def kilobytes(self) -> float:
        """Wait until all files have arrived, and return the kilobytes, including HTTP headers."""
        while self.under_way:
            self.page.wait_for_timeout(20)
        return self.bytes / 1000
