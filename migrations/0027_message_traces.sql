-- What happened to a message, as far as no other row tells it: an array of notes (model/messages/trace), each written by
-- the statement that changes the row anyway. Null for messages of earlier versions and of processes that still run one.
ALTER TABLE messages ADD COLUMN trace jsonb;

-- The W3C trace context of the request that caused the row, if that trace is recorded. Events copy it with the message.
ALTER TABLE messages ADD COLUMN traceparent text;
ALTER TABLE callbacks ADD COLUMN traceparent text;
