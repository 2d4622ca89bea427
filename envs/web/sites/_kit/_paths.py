"""`{id:row}` in a path: a number that a database can hold. Starlette's own `int` fails on longer ones, and a page that
fails is our fault and ends the episode; so no agent may bring it about by an address.
"""

from __future__ import annotations

from starlette.convertors import IntegerConvertor, register_url_convertor


class RowNumber(IntegerConvertor):
    """The number of a row; a longer one is no page of the site."""

    regex = "[0-9]{1,15}"


register_url_convertor("row", RowNumber())
