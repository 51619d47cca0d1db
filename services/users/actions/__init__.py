"""What can be done with an account: plain functions, called by handlers, jobs and the command line alike."""
