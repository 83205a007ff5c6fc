import { Anchor, Group, Paper, Stack, Text } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import type { Webhook } from '../types.js'
import classes from './card.module.css'
import { DisabledNotice } from './disabled-notice.js'
import { EventBadges } from './event-badges.js'
import { WebhookBadge } from './webhook-badge.js'

/** A webhook in the list, with a link to its deliveries. */
export function WebhookCard({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('settings')
  return (
    <Paper component="li" withBorder p="md" className={classes.card}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <div className={classes.text}>
            <Anchor
              component={Link}
              to={`/settings/webhooks/${webhook.id}`}
              className={classes.url}
              aria-label={t('webhooks.open', { url: webhook.url })}
            >
              {webhook.url}
            </Anchor>
            {webhook.description && (
              <Text size="sm" c="dimmed">
                {webhook.description}
              </Text>
            )}
          </div>
          <Group gap="xs" wrap="nowrap">
            <WebhookBadge webhook={webhook} />
            <IconChevronRight size={18} aria-hidden />
          </Group>
        </Group>
        <EventBadges events={webhook.events} />
        <DisabledNotice webhook={webhook} />
      </Stack>
    </Paper>
  )
}
