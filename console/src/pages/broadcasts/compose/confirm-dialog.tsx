import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { AudienceCount } from '../../../../../src/model/audience.js'
import { useSession } from '../../../session/session.js'
import { useFormat } from '../../../shared/format.js'
import { messageOf } from '../../../shared/problem.js'
import type { Draft } from './draft.js'
import { toInstant } from './zoned.js'

interface ConfirmDialogProps {
  opened: boolean
  onClose: () => void
  draft: Draft
  reach: AudienceCount | undefined
  isCounting: boolean
  sending: Pick<UseMutationResult, 'isPending' | 'isSuccess' | 'error'>
  onSend: () => void
}

/** Asks once more, with how many people will get it. */
export function ConfirmDialog({ opened, onClose, draft, reach, isCounting, sending, onSend }: ConfirmDialogProps) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  const count = reach?.reachable ?? 0
  const people = t('reach.people', { count, shown: number(count) })
  return (
    <Modal opened={opened} onClose={onClose} title={t('confirm.title', { name: draft.name })} centered>
      <Stack>
        <Text>
          {t(draft.isLater ? 'confirm.later' : 'confirm.now', { people })} <Moment draft={draft} />
        </Text>
        {draft.isLater || (
          <Text size="sm" c="dimmed">
            {t('confirm.hint')}
          </Text>
        )}
        {sending.error && (
          <Alert color="red" role="alert">
            {messageOf(sending.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('back', { ns: 'common' })}
          </Button>
          <Button
            onClick={onSend}
            // Until the page has changed a second click would send again.
            loading={sending.isPending || sending.isSuccess || isCounting}
            disabled={count === 0}
            data-autofocus
          >
            {t(draft.isLater ? 'confirm.schedule' : 'confirm.send', { people })}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Moment({ draft: { isLater, at } }: { draft: Draft }) {
  const { t, i18n } = useTranslation('broadcasts')
  const { timezone } = useSession().organization
  if (!isLater || at === null) return null
  const format = new Intl.DateTimeFormat(i18n.language === 'pt' ? 'pt-BR' : 'en-GB', {
    dateStyle: 'full',
    timeStyle: 'short',
    timeZone: timezone,
  })
  return t('confirm.at', { at: format.format(toInstant(at, timezone)), timezone })
}
