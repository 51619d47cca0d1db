"""What pages show, computed without I/O: prices, category paths, order steps, report axes, charts."""
