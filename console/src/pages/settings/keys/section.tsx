import { Button, EmptyState, Switch } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ShownOnce } from '../dialogs/shown-once.js'
import { Loaded } from '../frame/loaded.js'
import { Section } from '../frame/section.js'
import { KEYS, useKeys } from '../queries.js'
import type { ApiKey } from '../types.js'
import { stateOf } from './state.js'
import { KeyTable } from './table.js'

// Loaded later, since it brings the date picker.
const CreateKeyDialog = lazy(() => import('./create-dialog.js'))

/** The organization's API keys. */
export function KeysSection() {
  const { t } = useTranslation('settings')
  const keys = useKeys()
  const queries = useQueryClient()
  const [isCreating, creating] = useDisclosure(false)
  const [issued, setIssued] = useState<string | null>(null)
  const show = (key: string) => {
    setIssued(key)
    void queries.invalidateQueries({ queryKey: KEYS })
  }
  const create = (
    <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={creating.open}>
      {t('keys.create')}
    </Button>
  )
  return (
    <Section title={t('keys.title')} hint={t('keys.hint')} actions={keys.data?.length ? create : undefined}>
      <Loaded query={keys}>
        {(all) =>
          all.length === 0 ? (
            <EmptyState
              icon={<IconKey aria-hidden />}
              withIndicatorBackground
              title={t('keys.empty')}
              description={t('keys.emptyHint')}
              py="xl"
            >
              <EmptyState.Actions>{create}</EmptyState.Actions>
            </EmptyState>
          ) : (
            <KeyList keys={all} onIssued={show} />
          )
        }
      </Loaded>
      <Suspense>{isCreating && <CreateKeyDialog onClose={creating.close} onIssued={show} />}</Suspense>
      <ShownOnce
        title={t('keys.issued')}
        hint={t('keys.issuedHint')}
        label={t('keys.key')}
        value={issued}
        onClose={() => setIssued(null)}
      />
    </Section>
  )
}

/** Switch for inactive keys, which are hidden by default. */
function KeyList({ keys, onIssued }: { keys: ApiKey[]; onIssued: (key: string) => void }) {
  const { t } = useTranslation('settings')
  const [showsEnded, setShowsEnded] = useState(false)
  const now = new Date()
  const working = keys.filter((key) => ['active', 'ending'].includes(stateOf(key, now)))
  const ended = keys.length - working.length
  return (
    <>
      {ended > 0 && (
        <Switch
          label={t('keys.showEnded', { count: ended })}
          checked={showsEnded}
          onChange={(event) => setShowsEnded(event.currentTarget.checked)}
        />
      )}
      <KeyTable keys={showsEnded ? keys : working} onIssued={onIssued} />
    </>
  )
}
