"""How many kilobytes a page brings along for whoever has nothing of it yet."""

from playwright.sync_api import Page


class Weight:
    """Adds up what travels to a page from now on: all files, compressed as they were sent."""

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
        """Thousands of bytes, with what the server says about each file, when all have arrived."""
        while self.under_way:
            self.page.wait_for_timeout(20)
        return self.bytes / 1000
