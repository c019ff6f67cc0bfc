DROP INDEX outbox_clearings;
