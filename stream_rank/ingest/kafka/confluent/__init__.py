"""The port, fitted to confluent-kafka: librdkafka fetches and decompresses outside of the interpreter's lock."""
