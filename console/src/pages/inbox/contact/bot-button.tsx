import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconHandStop, IconRobot } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { useContactActions } from './use-actions.js'

interface BotButtonProps {
  contact: InboxContact
  /** Whether to show the icon only. */
  isSmall: boolean
}

/** Takes a conversation over from the bot, or hands it back. Nothing without a bot. */
export function BotButton({ contact, isSmall }: BotButtonProps) {
  const { t } = useTranslation('inbox')
  const { setBot, isPending } = useContactActions(contact)
  if (contact.bot_status === null) return null
  const isActive = contact.bot_status === 'active'
  const label = t(isActive ? 'header.takeOver' : 'header.handBack')
  const Icon = isActive ? IconHandStop : IconRobot
  const variant = isActive ? 'filled' : 'default'
  const change = () => setBot(isActive ? 'paused' : 'active')
  return (
    <Tooltip label={isActive ? t('header.takeOverHint') : label} multiline maw={240} disabled={!isActive && !isSmall}>
      {isSmall ? (
        <ActionIcon variant={variant} size="lg" onClick={change} loading={isPending} aria-label={label}>
          <Icon size={18} aria-hidden />
        </ActionIcon>
      ) : (
        <Button
          size="xs"
          variant={variant}
          leftSection={<Icon size={16} aria-hidden />}
          onClick={change}
          loading={isPending}
        >
          {label}
        </Button>
      )}
    </Tooltip>
  )
}
