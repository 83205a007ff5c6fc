import { Button, Group, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { notifications } from '@mantine/notifications'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { nameOf } from './contact-name.js'
import { notifyBlock } from './notify-block.js'
import { useChangeContact } from './use-contact.js'

/** Actions of a contact that buttons, menus and keys share. */
export function useContactActions(contact: InboxContact) {
  const { t } = useTranslation('inbox')
  const change = useChangeContact(contact)
  // Callbacks of mutate() are not called after unmount, and archiving closes the conversation.
  const archive = (archived: boolean) =>
    void change.mutateAsync({ archived }).then(
      () => notifyArchived(t(archived ? 'header.archived' : 'header.restored')),
      // The mutation has already shown the error.
      () => undefined,
    )

  /** Confirms archiving with a button to undo it, since it is not asked for. */
  const notifyArchived = (message: string) => {
    const id = `archived-${contact.id}`
    const undo = () => {
      notifications.hide(id)
      change.mutate({ archived: contact.archived })
    }
    notifications.show({
      id,
      color: 'teal',
      message: (
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" truncate>
            {nameOf(contact)}: {message}
          </Text>
          <Button size="compact-xs" variant="default" onClick={undo}>
            {t('header.undo')}
          </Button>
        </Group>
      ),
    })
  }

  const setBlocked = (blocked: boolean) =>
    void change.mutateAsync({ blocked }).then(
      (changed) => notifyBlock(changed, () => setBlocked(blocked)),
      // The mutation has already shown the error.
      () => undefined,
    )
  const toggleBlocked = () => {
    if (contact.blocked) return setBlocked(false)
    modals.openConfirmModal({
      title: t('header.blockTitle', { name: nameOf(contact) }),
      children: <Text size="sm">{t('header.blockHint')}</Text>,
      labels: { confirm: t('header.block'), cancel: t('cancel', { ns: 'common' }) },
      confirmProps: { color: 'red' },
      onConfirm: () => setBlocked(true),
    })
  }

  return {
    toggleArchived: () => archive(!contact.archived),
    toggleBlocked,
    setBot: (bot_status: 'active' | 'paused') => change.mutate({ bot_status }),
    isPending: change.isPending,
  }
}
