import { Button, EmptyState, ScrollArea, Text } from '@mantine/core'
import { IconArchive, IconInbox, IconMessages, IconSearch, IconUser } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useMay, useSession } from '../../../session/session.js'
import { NoNumber } from '../../../shared/no-number.js'
import type { InboxFilter } from './fits.js'

const ICONS = { all: IconMessages, unread: IconInbox, mine: IconUser, archived: IconArchive, found: IconSearch }

interface EmptyProps {
  filter: InboxFilter
  onFilter: (changes: Partial<InboxFilter>) => void
  onNew: () => void
}

/** Shown in an empty list: the reason, and what to do. */
export function Empty({ filter, onFilter, onNew }: EmptyProps) {
  const { t } = useTranslation('inbox')
  const { simulator, organization } = useSession()
  const mayWrite = useMay('agent')
  const isSearched = filter.search !== '' || filter.tag !== ''
  const reason = isSearched ? 'found' : filter.view
  const Icon = ICONS[reason]
  if (reason === 'all' && organization.provider === null) {
    return (
      <ScrollArea flex={1}>
        <NoNumber purpose="inbox" />
      </ScrollArea>
    )
  }
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
            {t(reason === 'all' && simulator ? 'empty.sandboxHint' : `empty.${reason}Hint`)}
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
    </ScrollArea>
  )
}
