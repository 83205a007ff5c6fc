import { userIdChatId } from './phone-number.js'

/** A user id of the upstream: a country with letters or digits, or the older form. A parent user id has `.ENT.`. */
const USER_ID = /^(?:[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}|user\.[A-Za-z0-9]{1,128})$/

/** Whether a text has the form of a user id, or of a parent user id. */
export function isUserId(text: string): boolean {
  return USER_ID.test(text)
}

/** Whether a user id is one that is valid in all linked portfolios. */
export function isParentUserId(userId: string): boolean {
  return /^[A-Z]{2}\.ENT\./.test(userId)
}

/** Whether an id is one of the network of linked devices (a JID), which the upstream does not know. */
export function isNetworkId(id: string): boolean {
  return id.includes('@')
}

/** The addresses that are stored for a user id of a contact. */
export function addressesOfUserId(userId: string): readonly [string, string] {
  return [`user:${userId}`, userIdChatId(userId)]
}

/** The address that is stored for a parent user id of a contact. */
export function addressOfParent(parentUserId: string): string {
  return `parent:${parentUserId}`
}
