/** Events to raise, as SQL expressions over the rows that they are about. */
export interface RaisedEvents {
  /** The rows: what follows FROM, conditions included. */
  from: string
  /** Default: `$1`. */
  organizationId?: string
  /** Default: the next one of the organization. */
  seq?: string
  id: string
  type: string
  /** The contact whose deliveries stay in order; default: none. */
  contactId?: string
  /** The message whose row readers add; default: none. */
  messageId?: string
  data: string
}

/**
 * The INSERT that raises events, at the end of a statement or as one part of its WITH; either all of them have a `seq`
 * or none. The statement declares `raises: 'events'`, so that listeners are notified.
 */
export function raiseEvents(...raised: readonly RaisedEvents[]): string {
  const seq = raised.some((events) => events.seq !== undefined) ? ' seq,' : ''
  return `INSERT INTO events (organization_id,${seq} id, type, contact_id, message_id, data)
     ${raised.map(selectEvents).join('\n     UNION ALL\n     ')}`
}

function selectEvents({
  from,
  organizationId = '$1',
  seq,
  id,
  type,
  contactId = 'NULL',
  messageId = 'NULL',
  data,
}: RaisedEvents): string {
  const columns = [`${organizationId}::uuid`, ...(seq === undefined ? [] : [seq]), `${id}::uuid`, type]
  return `SELECT ${columns.join(', ')}, ${contactId}::uuid, ${messageId}::uuid, ${data} FROM ${from}`
}

/** An event about each contact of `from`; `contact` names its row. */
export function contactEvents(type: string, id: string, contact: string, from = contact): RaisedEvents {
  return {
    from,
    id,
    type: `'${type}'`,
    contactId: `(${contact}).id`,
    data: `jsonb_build_object('contact', to_jsonb(${contact}))`,
  }
}
