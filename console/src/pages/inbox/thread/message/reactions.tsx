import { Group, Tooltip, UnstyledButton } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useThreadActions } from '../actions.js'
import type { ThreadMessage } from '../window.js'
import classes from './bubble.module.css'

/** The reactions to a message. A click on one's own removes it. */
export function Reactions({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const { contactName, mayWrite, react } = useThreadActions()
  const emojis = [...new Set(message.reactions.map(({ emoji }) => emoji))]
  if (emojis.length === 0) return null
  return (
    <Group gap={4} className={classes.reactions}>
      {emojis.map((emoji) => {
        const by = message.reactions.filter((reaction) => reaction.emoji === emoji)
        const isOurs = by.some(({ sender_type }) => sender_type !== 'user-chat')
        const names = [...new Set(by.map(({ sender_type }) => (sender_type === 'user-chat' ? contactName : t('team'))))]
        const label = t('reactionBy', { emoji, names: names.join(', ') })
        const isRemovable = isOurs && mayWrite
        return (
          <Tooltip key={emoji} label={isRemovable ? `${label} · ${t('reactionRemove')}` : label}>
            <UnstyledButton
              className={classes.reaction}
              data-ours={isOurs || undefined}
              aria-label={label}
              aria-disabled={!isRemovable}
              onClick={() => isRemovable && react(message, '')}
            >
              {emoji}
              {by.length > 1 && <span>{by.length}</span>}
            </UnstyledButton>
          </Tooltip>
        )
      })}
    </Group>
  )
}
