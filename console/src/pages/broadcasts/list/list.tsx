import { Button, Center, EmptyState, Pagination, Paper } from '@mantine/core'
import { IconPlus, IconSpeakerphone } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router'
import { Loading } from '../../../layout/loading.js'
import { useMay } from '../../../session/session.js'
import { PageFrame } from '../../../shared/page-frame.js'
import { LoadProblem } from '../../../shared/problem.js'
import { useBroadcasts } from '../data.js'
import { ListTable } from './list-table.js'

/** All broadcasts, newest first. */
export function BroadcastList() {
  const { t } = useTranslation('broadcasts')
  const maySend = useMay('agent')
  const [query, setQuery] = useSearchParams()
  const page = Math.max(1, Math.trunc(Number(query.get('page'))) || 1)
  const { data, error, isPending, refetch } = useBroadcasts(page)
  const create = maySend && (
    <Button component={Link} to="/broadcasts/new" leftSection={<IconPlus aria-hidden size={18} />}>
      {t('new')}
    </Button>
  )
  return (
    <PageFrame title={t('title')} actions={create}>
      {error && <LoadProblem error={error} retry={() => void refetch()} />}
      {isPending && <Loading />}
      {data && data.broadcasts.length > 0 && (
        <Paper withBorder>
          <ListTable broadcasts={data.broadcasts} />
        </Paper>
      )}
      {data && data.broadcasts.length === 0 && (
        <EmptyState
          icon={<IconSpeakerphone aria-hidden />}
          title={t('empty.title')}
          description={t(maySend ? 'empty.hint' : 'empty.hintAnalyst')}
          variant="light"
          py={80}
        >
          {create && <EmptyState.Actions>{create}</EmptyState.Actions>}
        </EmptyState>
      )}
      {data && data.pagination.totalPages > 1 && (
        <Center>
          <Pagination
            total={data.pagination.totalPages}
            value={page}
            onChange={(chosen) => setQuery({ page: String(chosen) })}
            getItemProps={(number) => ({ 'aria-label': t('page', { page: number }) })}
            getControlProps={(control) => ({ 'aria-label': t(`pages.${control}`) })}
          />
        </Center>
      )}
    </PageFrame>
  )
}
