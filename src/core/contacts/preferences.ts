import { recordMarketingResume, recordMarketingStop } from '../../storage/contacts/preferences.js'
import {
  type Observation,
  type ResolutionContext,
  resolveContact,
  type UpstreamPerson,
} from './resolution/resolve-contact.js'

/** What a person chose in WhatsApp about the marketing messages of the organization. */
export interface Preference {
  person: UpstreamPerson
  profileName: string | null
  wish: 'stop' | 'resume'
  /** The upstream's sentence about it. */
  words: string | null
}

/**
 * Opts the person out of broadcasts, or in again. The newest wish counts, whatever comes first; at the same time it is
 * the opt-out. Who opted out by a reply stays opted out, and so does who is on an imported list: only the person's own
 * words end that. A person who is not known yet becomes a contact. Resolves to the contact's id.
 */
export async function applyPreference(
  ctx: ResolutionContext,
  organizationId: string,
  { person, profileName, wish, words }: Preference,
  observation: Observation,
): Promise<string> {
  const contactId = await resolveContact(ctx, organizationId, person, { ...observation, profileName })
  const record = wish === 'stop' ? recordMarketingStop : recordMarketingResume
  await record(ctx.database, organizationId, { contactId, at: observation.at, words })
  return contactId
}
