"""What the process has: settings, faults on demand, threads, memory, parts loaded at first use."""
