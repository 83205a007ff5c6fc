import {
  ActionIcon,
  Button,
  Code,
  CopyButton,
  EmptyState,
  Group,
  ScrollArea,
  Stack,
  Text,
  Tooltip,
} from '@mantine/core'
import { IconArchive, IconCheck, IconCopy, IconInbox, IconMessages, IconSearch, IconUser } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useMay, useSession } from '../../../session/session.js'
import type { InboxFilter } from './filter.js'

const ICONS = { all: IconMessages, unread: IconInbox, mine: IconUser, archived: IconArchive, found: IconSearch }

interface EmptyProps {
  filter: InboxFilter
  onFilter: (changes: Partial<InboxFilter>) => void
  onNew: () => void
}

/** Shown in an empty list: the reason, and what to do. */
export function Empty({ filter, onFilter, onNew }: EmptyProps) {
  const { t } = useTranslation('inbox')
  const { simulator } = useSession()
  const mayWrite = useMay('agent')
  const isSearched = filter.search !== '' || filter.tag !== ''
  const reason = isSearched ? 'found' : filter.view
  const Icon = ICONS[reason]
  return (
    <ScrollArea flex={1}>
      <EmptyState
        p="lg"
        size="sm"
        withIndicatorBackground
        icon={<Icon stroke={1.5} aria-hidden />}
        title={t(`empty.${reason}`)}
        description={
          <Text c="dimmed" span inherit>
            {t(`empty.${reason}Hint`)}
          </Text>
        }
      >
        <EmptyState.Actions>
          {reason !== 'all' && (
            <Button size="xs" variant="default" onClick={() => onFilter({ view: 'all', tag: '', search: '' })}>
              {t('empty.showAll')}
            </Button>
          )}
          {reason === 'all' && mayWrite && (
            <Button size="xs" variant="default" onClick={onNew}>
              {t('new.open')}
            </Button>
          )}
        </EmptyState.Actions>
      </EmptyState>
      {reason === 'all' && simulator && <PlayCustomer />}
    </ScrollArea>
  )
}

/** How to send a message as a customer of the sandbox. */
function PlayCustomer() {
  const { t } = useTranslation('inbox')
  const { public_url } = useSession()
  const body =
    '{"phone_number_id": "<GET /_sim/numbers>", "from": "5511900001234", "name": "Ana Souza", "type": "text", "text": "Oi!"}'
  const command = [
    `curl ${public_url}/_sim/inbound`,
    "-H 'Authorization: Bearer <admin token>'",
    "-H 'Content-Type: application/json'",
    `-d '${body}'`,
  ].join(' \\\n  ')
  return (
    <Stack gap="xs" px="md" pb="lg">
      <Group justify="space-between" wrap="nowrap" gap="xs" align="flex-start">
        <Text size="xs">{t('empty.sandboxHint')}</Text>
        <CopyButton value={command}>
          {({ copied, copy }) => (
            <Tooltip label={t(copied ? 'copied' : 'copy', { ns: 'common' })}>
              <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={t('copy', { ns: 'common' })}>
                {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyButton>
      </Group>
      <Code block fz="xs" tabIndex={0}>
        {command}
      </Code>
    </Stack>
  )
}
