-- What was asked of the phone of a number: {requests: {smb_app_state_sync, history}, at}; null: nothing.
ALTER TABLE number_states ADD COLUMN phone_data jsonb;
