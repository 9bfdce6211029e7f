"""All kinds of evidence together: where tiles might be."""

from __future__ import annotations

import numpy as np

from vision.bars import bar_proposals
from vision.poses import Poses
from vision.pyramid import Level
from vision.regions import region_proposals


def propose(levels: tuple[Level, ...]) -> Poses:
    """Return every tile that bars or regions suggest, shape (N, 6): far more than there are, and repeatedly."""
    return np.concatenate([bar_proposals(levels), region_proposals(levels)])
