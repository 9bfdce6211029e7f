"""The signature of a webhook: whoever knows the secret can tell that a message is of the table, and how old it is."""

from __future__ import annotations

import hashlib
import hmac

HEADER = "Tallybone-Signature"


def signature(secret: str, at_s: int, body: bytes) -> str:
    """Return the value of the header: the time (seconds since 1970), and HMAC-SHA256 over "TIME.BODY".

    >>> signature("secret", 1700000000, b"{}")[:30]
    't=1700000000,v1=b8569b78799ff9'
    """
    digest = hmac.new(secret.encode("utf-8"), f"{at_s}.".encode("ascii") + body, hashlib.sha256).hexdigest()
    return f"t={at_s},v1={digest}"
