"""The port implemented with confluent-kafka: librdkafka fetches and decompresses outside the GIL."""
