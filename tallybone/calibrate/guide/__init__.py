"""Guide a person through the calibration, step by step; terminal and page show the same course."""
