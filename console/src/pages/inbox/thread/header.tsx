import { ActionIcon, Box, Group, Menu, Text, Title, Tooltip, UnstyledButton, VisuallyHidden } from '@mantine/core'
import {
  IconArchive,
  IconArchiveOff,
  IconArrowLeft,
  IconBan,
  IconDots,
  IconDownload,
  IconLayoutSidebarRight,
  IconSearch,
  IconTrash,
} from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link, type To } from 'react-router'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { apiUrl } from '../../../api/client.js'
import { useMay } from '../../../session/session.js'
import { Assignee } from '../contact/assignee.js'
import { BotButton } from '../contact/bot-button.js'
import { ContactAvatar } from '../contact/contact-avatar.js'
import { nameOf } from '../contact/contact-name.js'
import { useContactActions } from '../contact/use-actions.js'
import classes from './header.module.css'

/** The tab of the panel beside the conversation. */
export type Side = 'details' | 'search'

interface HeaderProps {
  contact: InboxContact
  /** Path of the list, on screens without room for both. */
  back: To | null
  side: Side | null
  onSide: (side: Side | null) => void
  onArchive: () => void
  onErase: () => void
}

/** The top of a conversation: contact, assignee and actions. */
export function Header({ contact, back, side, onSide, onArchive, onErase }: HeaderProps) {
  const { t } = useTranslation('inbox')
  const mayWrite = useMay('agent')
  const toggle = (wanted: Side) => onSide(side === wanted ? null : wanted)
  return (
    <Group component="header" gap="xs" wrap="nowrap" className={classes.header}>
      {back !== null && (
        <ActionIcon component={Link} to={back} variant="subtle" color="gray" size="lg" aria-label={t('toList')}>
          <IconArrowLeft size={20} aria-hidden />
        </ActionIcon>
      )}
      <UnstyledButton className={classes.who} onClick={() => toggle('details')}>
        <ContactAvatar contact={contact} size={38} />
        <VisuallyHidden>{t('header.details')}</VisuallyHidden>
      </UnstyledButton>
      <Box flex={1} miw={0}>
        <Title order={back === null ? 2 : 1} size="h5" lineClamp={1}>
          {nameOf(contact)}
        </Title>
        <Text size="xs" c="dimmed" truncate>
          {contact.phone_number ?? (contact.username && `@${contact.username}`) ?? contact.user_id ?? contact.chat_id}
          {contact.is_group && ` · ${t('group')}`}
          {contact.blocked && ` · ${t('blocked')}`}
        </Text>
      </Box>
      {mayWrite && <BotButton contact={contact} isSmall={back !== null} />}
      <Box visibleFrom="md">
        <Assignee contact={contact} />
      </Box>
      <Group gap={2} wrap="nowrap">
        <Tooltip label={t('header.search')}>
          <ActionIcon
            variant={side === 'search' ? 'light' : 'subtle'}
            color="gray"
            size="lg"
            onClick={() => toggle('search')}
            aria-label={t('header.search')}
            aria-pressed={side === 'search'}
          >
            <IconSearch size={18} stroke={1.8} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t('header.details')}>
          <ActionIcon
            variant={side === 'details' ? 'light' : 'subtle'}
            color="gray"
            size="lg"
            onClick={() => toggle('details')}
            aria-label={t('header.details')}
            aria-pressed={side === 'details'}
            visibleFrom="xs"
          >
            <IconLayoutSidebarRight size={18} stroke={1.8} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <More contact={contact} onArchive={onArchive} onErase={onErase} onDetails={() => onSide('details')} />
      </Group>
    </Group>
  )
}

interface MoreProps extends Pick<HeaderProps, 'contact' | 'onArchive' | 'onErase'> {
  onDetails: () => void
}

function More({ contact, onArchive, onErase, onDetails }: MoreProps) {
  const { t } = useTranslation('inbox')
  const mayWrite = useMay('agent')
  const { toggleBlocked } = useContactActions(contact)
  const Archive = contact.archived ? IconArchiveOff : IconArchive
  return (
    <Menu position="bottom-end" width={250}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('header.more')}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconLayoutSidebarRight size={16} aria-hidden />} onClick={onDetails} hiddenFrom="xs">
          {t('header.details')}
        </Menu.Item>
        {mayWrite && (
          <Menu.Item leftSection={<Archive size={16} aria-hidden />} onClick={onArchive}>
            {t(contact.archived ? 'header.unarchive' : 'header.archive')}
          </Menu.Item>
        )}
        <Menu.Item
          component="a"
          href={apiUrl('/conversations/export', { contactId: contact.id })}
          download
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          {t('header.export')}
        </Menu.Item>
        {mayWrite && (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<IconBan size={16} aria-hidden />} onClick={toggleBlocked}>
              {t(contact.blocked ? 'header.unblock' : 'header.block')}
            </Menu.Item>
            <Menu.Item
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={onErase}
            >
              {t('header.erase')}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
