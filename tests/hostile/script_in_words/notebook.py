WORDS = "<script>alert(1)</script><svg onload=alert(1)><iframe srcdoc='<script>1</script>'></iframe>\n\n<img src=x onerror=alert(1)><object data=x></object><form action=/x><input></form>\n\n<style>@import 'x'</style><math><mtext></mtext></math>"


def make(content, path):
    for cell in content["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == "dissimilar_words":
            cell["source"] = WORDS
    return content
