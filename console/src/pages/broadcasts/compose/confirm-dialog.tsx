import { Alert, Button, DataList, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { AudienceCount } from '../../../../../src/model/broadcasts/audience.js'
import type { ReadList } from '../../../../../src/model/broadcasts/read-list.js'
import { useSession } from '../../../session/session.js'
import { useFormat } from '../../../shared/format.js'
import { messageOf } from '../../../shared/problem.js'
import type { ShownTemplate } from '../../../shared/templates/template-form.js'
import type { Draft } from './draft.js'
import { PreviewedMessage } from './preview.js'
import { toInstant } from './schedule/zoned.js'

interface ConfirmDialogProps {
  opened: boolean
  onClose: () => void
  draft: Draft
  template: ShownTemplate | null
  list: ReadList
  reach: AudienceCount | undefined
  isCounting: boolean
  sending: Pick<UseMutationResult, 'isPending' | 'isSuccess' | 'error'>
  onSend: () => void
}

const MAX_PREVIEW = 320

/** The review before sending: template, text, audience, time and billing. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { opened, onClose, draft, template, list, reach, isCounting, sending, onSend } = props
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  const count = reach?.reachable ?? 0
  const leftOut = draft.audience === 'list' ? list.rejected : 0
  const people = t('reach.people', { count, shown: number(count) })
  return (
    <Modal opened={opened} onClose={onClose} title={t('confirm.title', { name: draft.name })} size="lg" centered>
      <Stack>
        {template && (
          <DataList labelWidth={110} gap={6}>
            <Row label={t('confirm.template')}>{`${template.name} (${template.language})`}</Row>
            <Row label={t('confirm.audience')}>{describeAudience(t, draft, list)}</Row>
            <Row label={t('confirm.skipped')}>{number((reach?.total ?? 0) - count + leftOut)}</Row>
            <Row label={t('confirm.cost')}>
              {t('confirm.billed', { count, shown: number(count), category: template.category.toLowerCase() })}
            </Row>
          </DataList>
        )}
        <ScrollArea.Autosize mah={MAX_PREVIEW} type="auto">
          <PreviewedMessage draft={draft} template={template} list={list} />
        </ScrollArea.Autosize>
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
            // Disabled until the page changes: a second click would send again.
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

function Row({ label, children }: { label: string; children: string }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue>{children}</DataList.ItemValue>
    </DataList.Item>
  )
}

/** The audience as text, such as `By tag: vip, new`. */
function describeAudience(t: TFunction<'broadcasts'>, { audience, tags, contacts }: Draft, list: ReadList): string {
  if (audience === null) return ''
  const kind = t(`audiences.${audience}`)
  const details = {
    all: null,
    tags: tags.join(', '),
    contacts: String(contacts.length),
    list: t('compose.rows', { count: list.recipients, shown: String(list.recipients) }),
  }[audience]
  return details === null ? kind : `${kind}: ${details}`
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
