"""Sources of events: files, standard input and Kafka topics."""
