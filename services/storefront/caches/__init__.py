"""What a process keeps of answers and pages: parts of pages, whole pages for everybody, questions that several ask at once."""
