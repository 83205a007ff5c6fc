import { Button, EmptyState, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLive } from '../../../api/live.js'
import { Loaded } from '../frame/loaded.js'
import { Section } from '../frame/section.js'
import { useWebhooks, WEBHOOKS } from '../queries.js'
import { WebhookCard } from './card.js'
import { CreateWebhookDialog } from './create-dialog.js'
import { SecretDialog } from './secret-dialog.js'

/** The organization's webhooks. */
export function WebhooksSection() {
  const { t } = useTranslation('settings')
  const webhooks = useWebhooks()
  const queries = useQueryClient()
  const [isCreating, creating] = useDisclosure(false)
  const [secret, setSecret] = useState<string | null>(null)
  useLive(({ type }) => {
    if (type === 'webhook.disabled') void queries.invalidateQueries({ queryKey: WEBHOOKS })
  })
  const create = (
    <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={creating.open}>
      {t('webhooks.create')}
    </Button>
  )
  return (
    <Section title={t('webhooks.title')} hint={t('webhooks.hint')} actions={webhooks.data?.length ? create : undefined}>
      <Loaded query={webhooks}>
        {(all) =>
          all.length === 0 ? (
            <EmptyState
              icon={<IconWebhook aria-hidden />}
              withIndicatorBackground
              title={t('webhooks.empty')}
              description={t('webhooks.emptyHint')}
              py="xl"
            >
              <EmptyState.Actions>{create}</EmptyState.Actions>
            </EmptyState>
          ) : (
            <Stack component="ul" p={0} m={0} gap="sm" aria-label={t('webhooks.title')}>
              {all.map((webhook) => (
                <WebhookCard key={webhook.id} webhook={webhook} />
              ))}
            </Stack>
          )
        }
      </Loaded>
      <CreateWebhookDialog opened={isCreating} onClose={creating.close} onIssued={setSecret} />
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </Section>
  )
}
