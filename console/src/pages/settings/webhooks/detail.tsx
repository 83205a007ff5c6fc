import { Anchor, EmptyState, Group, Stack, Text } from '@mantine/core'
import { IconArrowLeft, IconWebhook } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate, useParams } from 'react-router'
import { useFormat } from '../../../shared/format.js'
import { Loaded } from '../frame/loaded.js'
import { Panel } from '../frame/panel.js'
import { Section } from '../frame/section.js'
import { useWebhooks } from '../queries.js'
import type { Webhook } from '../types.js'
import { WebhookActions } from './actions.js'
import { DeliveryDrawer } from './delivery-drawer.js'
import { DisabledNotice } from './disabled-notice.js'
import { EventBadges } from './event-badges.js'
import { DeliveryLog } from './log.js'
import classes from './payload.module.css'
import { WebhookBadge } from './webhook-badge.js'

/** `/settings/webhooks/<id>`: a webhook and its deliveries. `/<deliveryId>` after it opens a delivery. */
export default function WebhookDetail() {
  const { webhookId, deliveryId } = useParams()
  const webhooks = useWebhooks()
  return (
    <Loaded query={webhooks}>
      {(all) => {
        const webhook = all.find(({ id }) => id === webhookId)
        return webhook ? <Detail key={webhook.id} webhook={webhook} deliveryId={deliveryId ?? null} /> : <Gone />
      }}
    </Loaded>
  )
}

function Detail({ webhook, deliveryId }: { webhook: Webhook; deliveryId: string | null }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const navigate = useNavigate()
  const here = `/settings/webhooks/${webhook.id}`
  return (
    <Stack gap="md" maw={960}>
      <Back />
      <Section title={hostOf(webhook.url)} hint={webhook.description} actions={<WebhookActions webhook={webhook} />}>
        <Panel>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Text className={classes.id} size="sm">
              {webhook.url}
            </Text>
            <WebhookBadge webhook={webhook} />
          </Group>
          <EventBadges events={webhook.events} />
          <DisabledNotice webhook={webhook} />
          <Text size="sm" c="dimmed">
            {t('webhooks.since', { at: format.dateTime(webhook.created_at) })}
          </Text>
        </Panel>
        <DeliveryLog webhook={webhook} onOpen={({ id }) => navigate(`${here}/${id}`)} />
      </Section>
      <DeliveryDrawer deliveryId={deliveryId} onClose={() => navigate(here)} />
    </Stack>
  )
}

function Gone() {
  const { t } = useTranslation('settings')
  return (
    <Section title={t('webhooks.gone')}>
      <EmptyState icon={<IconWebhook aria-hidden />} withIndicatorBackground description={t('webhooks.goneHint')}>
        <EmptyState.Actions>
          <Back />
        </EmptyState.Actions>
      </EmptyState>
    </Section>
  )
}

function Back() {
  const { t } = useTranslation('settings')
  return (
    <Anchor component={Link} to="/settings/webhooks" size="sm">
      <Group gap={4}>
        <IconArrowLeft size={16} aria-hidden />
        {t('webhooks.all')}
      </Group>
    </Anchor>
  )
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
