/** SQL: whether the callback `c` of the organization waits until its part of a phone's history is taken in. */
export const awaitsImport = (organization: string) => `EXISTS (
         SELECT FROM phone_history_chunks h WHERE h.organization_id = ${organization} AND h.callback_id = c.id
       )`
