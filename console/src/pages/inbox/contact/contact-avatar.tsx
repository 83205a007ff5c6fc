import { Avatar } from '@mantine/core'
import { IconUser, IconUsersGroup } from '@tabler/icons-react'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'

/** Shows the contact's initials. Screen readers skip it, so show the name next to it. */
export function ContactAvatar({ contact, size = 44 }: { contact: InboxContact; size?: number }) {
  const { full_name: name, is_group: isGroup } = contact
  if (isGroup) {
    return (
      <Avatar size={size} aria-hidden>
        <IconUsersGroup size={size / 2} />
      </Avatar>
    )
  }
  // Numbers and symbols are not initials.
  const words = (name ?? '').match(/\p{L}[\p{L}\p{M}]*/gu)
  if (!words) {
    return (
      <Avatar size={size} aria-hidden>
        <IconUser size={size / 2} />
      </Avatar>
    )
  }
  return <Avatar size={size} name={words.join(' ')} color="initials" aria-hidden />
}
