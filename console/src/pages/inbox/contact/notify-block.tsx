import { Button, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import i18next from 'i18next'
import type { ChangedContact } from '../../../api/types.js'
import { notifyDone } from '../../../shared/problem.js'
import { nameOf } from './contact-name.js'

/**
 * Tells whether a contact was blocked, or unblocked, at WhatsApp too, where its messages come from. `again` asks
 * WhatsApp once more.
 */
export function notifyBlock({ contact, upstream_block: answer }: ChangedContact, again: () => void): void {
  const t = i18next.getFixedT(null, 'inbox')
  const { blocked } = contact
  const named = { name: nameOf(contact) }
  if (answer === undefined && blocked && !contact.is_group) {
    notifications.show({
      color: 'yellow',
      title: t('block.here', named),
      message: t(contact.active_status ? 'block.notAsked' : 'block.notRecent'),
      autoClose: 10_000,
    })
  } else if (answer?.done ?? true) {
    notifyDone(t(blocked ? 'block.blocked' : 'block.unblocked', named))
  } else {
    const id = `block-${contact.id}`
    const repeat = () => {
      notifications.hide(id)
      again()
    }
    notifications.show({
      id,
      color: 'yellow',
      title: t(blocked ? 'block.here' : 'block.notUnblocked', named),
      message: (
        <Stack gap="xs" align="flex-start">
          <Text size="sm" c="dimmed">
            {answer?.text ?? t('block.noReason')}
          </Text>
          <Button size="compact-sm" variant="default" onClick={repeat}>
            {t('retry', { ns: 'common' })}
          </Button>
        </Stack>
      ),
      autoClose: false,
    })
  }
}
