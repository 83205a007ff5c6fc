import { Avatar, Badge, Group, VisuallyHidden } from '@mantine/core'
import { IconBan, IconRobot, IconUsersGroup } from '@tabler/icons-react'
import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, type To } from 'react-router'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import type { Member } from '../../../api/types.js'
import { useFormat } from '../../../shared/format.js'
import { ContactAvatar } from '../contact/contact-avatar.js'
import { nameOf } from '../contact/contact-name.js'
import { Preview } from './preview.js'
import classes from './row.module.css'

const SHOWN_TAGS = 3

/** The element id of a contact's row. */
export const rowId = (contactId: string): string => `contact-${contactId}`

interface RowProps {
  contact: InboxContact
  to: To
  isOpen: boolean
  /** Whether this row is in the tab order. */
  isTabStop: boolean
  assignee: Member | undefined
  onFocus: (contactId: string) => void
}

/** A conversation in the list. */
export const Row = memo(function Row({ contact, to, isOpen, isTabStop, assignee, onFocus }: RowProps) {
  const { t } = useTranslation('inbox')
  const format = useFormat()
  const { has_unread_messages: isUnread, tags } = contact
  return (
    <Link
      id={rowId(contact.id)}
      to={to}
      className={classes.row}
      tabIndex={isTabStop ? 0 : -1}
      onFocus={() => onFocus(contact.id)}
      data-unread={isUnread || undefined}
      {...(isOpen && { 'aria-current': 'true' })}
    >
      <ContactAvatar contact={contact} />
      <span className={classes.body}>
        <span className={classes.line}>
          <span className={classes.name}>{nameOf(contact)}</span>
          {/* Who is only in the phone's address book was never active. */}
          {Date.parse(contact.active_at) > 0 && (
            <time className={classes.time} dateTime={contact.active_at}>
              {format.brief(contact.active_at)}
            </time>
          )}
        </span>
        <span className={classes.line}>
          <Preview message={contact.last_message} />
          <Marks contact={contact} assignee={assignee} />
        </span>
        {tags.length > 0 && (
          <Group component="span" gap={4} mt={2} wrap="nowrap">
            {tags.slice(0, SHOWN_TAGS).map((tag) => (
              <Badge key={tag} component="span" variant="default" size="xs" tt="none" fw={500} className={classes.tag}>
                {tag}
              </Badge>
            ))}
            {tags.length > SHOWN_TAGS && (
              <span className={classes.more}>
                <span aria-hidden>+{tags.length - SHOWN_TAGS}</span>
                <VisuallyHidden>{t('moreTags', { count: tags.length - SHOWN_TAGS })}</VisuallyHidden>
              </span>
            )}
          </Group>
        )}
      </span>
    </Link>
  )
})

function Marks({ contact, assignee }: { contact: InboxContact; assignee: Member | undefined }) {
  const { t } = useTranslation('inbox')
  return (
    <span className={classes.marks}>
      {contact.is_group && <IconUsersGroup size={16} role="img" aria-label={t('group')} />}
      {contact.blocked && <IconBan size={16} role="img" aria-label={t('blocked')} />}
      {contact.bot_status === 'active' && <IconRobot size={16} role="img" aria-label={t('botAnswers')} />}
      {assignee && (
        <Avatar
          component="span"
          size={20}
          name={assignee.full_name}
          color="initials"
          role="img"
          aria-label={t('assignedTo', { name: assignee.full_name })}
        />
      )}
      {contact.has_unread_messages && <span className={classes.dot} role="img" aria-label={t('unread')} />}
    </span>
  )
}
