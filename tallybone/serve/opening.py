"""The page of a live game, if there is to be one: what the game calls, and what opens it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tallybone.play.counts import Stage
from tallybone.play.table import NoPage, Page
from tallybone.serve.health import LookedAfter
from tallybone.store.table_file import BeyondSettings

_NOBODY = BeyondSettings()


@contextmanager
def open_page(where: str | None, table: LookedAfter, beyond: BeyondSettings = _NOBODY) -> Iterator[Page]:
    """Serve a page until the game is over; None for no page.

    Args:
        where: A port, or an address and a port; "" for the usual port of the whole network.
        table: What its `/health` and `/metrics` say, and whose recordings it shows.
        beyond: Who else is told what it shows.

    Raises:
        OSError: If it cannot be served there, or what serves it is not installed.
    """
    if where is None:
        yield NoPage()
        return
    try:
        from tallybone.notify.notifying import telling
        from tallybone.serve.metrics import MeasuredHub, Observing
        from tallybone.web.live_page import LivePage
        from tallybone.web.recording_pages import recording_pages
    except ModuleNotFoundError as error:
        words = f"a page needs {error.name}, which is not installed: pip install 'tallybone[web]'"
        raise OSError(words) from error
    hub = MeasuredHub(table.clock, table.counts.times[Stage.PAGE])
    observing, recordings = Observing(hub, table), recording_pages(table.folder)
    health = observing.health
    page = LivePage(where, table.clock, hub=hub, more=lambda access: (*observing.routes, *recordings(access)))
    try:
        with telling(beyond, hub, lambda: health.now().findings) as found:
            health.also_ask(found)
            yield page
    finally:
        page.close()
