import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { raiseEvents } from '../events/raise.js'
import { IF_NEWLY_OPTED_OUT, optedInEvents, optedOutEvents } from './opt-outs.js'

/** A wish about marketing messages that the upstream reported. */
export interface ReportedWish {
  contactId: string
  at: Date
  words: string | null
}

// A newer wish of a contact that the upstream has opted out already moves the time, so that an opt-in of before comes
// too late. It raises nothing.
const stop = statement<never>(
  'preferences.stop',
  `WITH before AS (
     -- Locks the contact, unless it opted in later.
     SELECT id, opted_out_at FROM contacts
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 AND (opted_in_at <= $5) IS NOT FALSE
       AND (opted_out_at IS NULL OR opt_out_source = 'upstream')
     FOR NO KEY UPDATE
   ), changed AS (
     -- Opts it out.
     UPDATE contacts c
     SET allow_broadcast = false, opted_out_at = greatest(c.opted_out_at, $5), opt_out_source = 'upstream',
       consent_words = CASE WHEN c.opted_out_at > $5 THEN coalesce(c.consent_words, $6) ELSE $6 END, updated_at = now()
     FROM before
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = before.id
     RETURNING c.*
   ), ${optedOutEvents(IF_NEWLY_OPTED_OUT)}
   SELECT`,
  { raises: 'events' },
)

const resume = statement<never>(
  'preferences.resume',
  `WITH before AS (
     -- Locks the contact, unless it opted in or out later, or the opt-out is not the upstream's.
     SELECT id, opted_out_at FROM contacts
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 AND (opted_out_at < $5) IS NOT FALSE AND (opted_in_at <= $5) IS NOT FALSE
       AND (opted_out_at IS NULL OR opt_out_source = 'upstream')
     FOR NO KEY UPDATE
   ), changed AS (
     -- Ends the opt-out. If the organization disallowed broadcasts by hand, the customer cannot change that.
     UPDATE contacts c
     SET allow_broadcast = c.allow_broadcast OR before.opted_out_at IS NOT NULL, opted_out_at = NULL,
       opt_out_source = NULL, opted_in_at = $5, consent_words = $6, updated_at = now()
     FROM before
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = before.id
     RETURNING c.*
   ), raised AS (
     -- Raises the events if there was one.
     ${raiseEvents(...optedInEvents(['$3', '$4'], 'upstream'))}
   )
   SELECT`,
  { raises: 'events' },
)

/** Opts the contact out. Does nothing if it opted in later, or by other ways. */
export async function recordMarketingStop(db: Queryable, organizationId: string, wish: ReportedWish): Promise<void> {
  await db.raise(stop, valuesOf(organizationId, wish), [organizationId])
}

/** Ends an opt-out that the upstream reported. Does nothing if the contact opted out later, or at the same time. */
export async function recordMarketingResume(db: Queryable, organizationId: string, wish: ReportedWish): Promise<void> {
  await db.raise(resume, valuesOf(organizationId, wish), [organizationId])
}

function valuesOf(organizationId: string, { contactId, at, words }: ReportedWish): unknown[] {
  return [organizationId, contactId, newId(), newId(), at, words]
}
