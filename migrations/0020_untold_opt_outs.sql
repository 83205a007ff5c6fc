-- True: the opt-out was read in the history of a phone, and no event has told of it. Null: one has, or there is none.
ALTER TABLE contacts ADD COLUMN opt_out_untold boolean;
