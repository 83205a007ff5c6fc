import { Button, EmptyState, SimpleGrid } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDeviceMobile, IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useLive } from '../../../api/live.js'
import { useSession } from '../../../session/session.js'
import { useSubject } from '../dialogs/use-subject.js'
import { CopyField } from '../forms/copy-field.js'
import { Loaded } from '../frame/loaded.js'
import { Panel } from '../frame/panel.js'
import { Section } from '../frame/section.js'
import { INSTANCES, useInstances } from '../queries.js'
import type { Instance } from '../types.js'
import { InstanceCard } from './card.js'
import { ConnectDialog } from './connect/connect-dialog.js'
import { CreateInstanceDialog } from './create-dialog.js'

/** The gateway's instances. */
export function InstancesSection() {
  const { t } = useTranslation('settings')
  const { public_url } = useSession()
  const instances = useInstances()
  const queries = useQueryClient()
  const [isCreating, creating] = useDisclosure(false)
  const connecting = useSubject<Instance>()
  const refresh = () => void queries.invalidateQueries({ queryKey: INSTANCES })
  useLive(({ type }) => {
    if (type.startsWith('instance.')) refresh()
  })
  const create = (
    <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={creating.open}>
      {t('instances.create')}
    </Button>
  )
  return (
    <Section
      title={t('instances.title')}
      hint={t('instances.hint')}
      actions={instances.data?.length ? create : undefined}
    >
      <Loaded query={instances}>
        {(all) =>
          all.length === 0 ? (
            <EmptyState
              icon={<IconDeviceMobile aria-hidden />}
              withIndicatorBackground
              title={t('instances.empty')}
              description={t('instances.emptyHint')}
              py="xl"
            >
              <EmptyState.Actions>{create}</EmptyState.Actions>
            </EmptyState>
          ) : (
            <SimpleGrid component="ul" cols={{ base: 1, md: 2 }} p={0} m={0} aria-label={t('instances.title')}>
              {all.map((instance) => (
                <InstanceCard
                  key={instance.id}
                  instance={instance}
                  onConnect={() => connecting.open(instance)}
                  onChanged={refresh}
                />
              ))}
            </SimpleGrid>
          )
        }
      </Loaded>
      <Panel title={t('instances.clients')} hint={t('instances.clientsHint')}>
        <CopyField label={t('instances.address')} value={`${public_url}/gateway`} />
      </Panel>
      <CreateInstanceDialog
        opened={isCreating}
        onClose={creating.close}
        onCreated={(instance) => {
          refresh()
          // A new instance that needs linking opens the dialog for it.
          if (instance.state !== 'open') connecting.open(instance)
        }}
      />
      <ConnectDialog
        opened={connecting.isOpen}
        instance={connecting.subject}
        onClose={() => {
          connecting.close()
          refresh()
        }}
      />
    </Section>
  )
}
