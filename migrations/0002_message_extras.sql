-- What a message of any kind may have beside its content: {referral, referred_product, forwarded, errors, edited_at, …}
-- (model/messages/shown/extras). Null for most messages, and for those of the version before.
ALTER TABLE messages ADD COLUMN extras jsonb;
