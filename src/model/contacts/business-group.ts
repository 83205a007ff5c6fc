/** Who a group of the business API names: a participant, or who left or asked to join. */
export interface GroupPerson {
  name: string | null
  /** With +. */
  phone_number: string | null
  user_id: string | null
  username: string | null
}

/** A participant of a group; `at`: when the upstream last said whether the person is in it (ISO 8601). */
export interface GroupParticipant extends GroupPerson {
  at: string
  /** Kept for a while, because an older report may follow. */
  has_left: boolean
}

/**
 * What is known of a group of a number of the business API, as its contact stores it in `business_group`. What the
 * upstream has not reported is absent. Each `…_at` is the time of the newest report about it (ISO 8601).
 */
export interface BusinessGroup {
  /** As the upstream writes it; without an id, a group cannot be answered. */
  id: string
  /** The instance whose number is in the group; null: the organization's own number. */
  instance_id: string | null
  subject_at?: string
  description?: string | null
  description_at?: string
  suspended?: boolean
  suspended_at?: string
  deleted_at?: string
  participants?: GroupParticipant[]
}

/** The group as interfaces and events show it. */
export function presentGroup({ description, suspended, deleted_at, participants = [] }: BusinessGroup) {
  return {
    description: description ?? null,
    suspended: suspended ?? false,
    deleted_at: deleted_at ?? null,
    participants: participants
      .filter(({ has_left }) => !has_left)
      .map(({ name, phone_number, user_id, username }) => ({ name, phone_number, user_id, username })),
  }
}
