import { ActionIcon, Group, Menu, TextInput } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconArrowBackUp, IconChevronDown, IconCopy, IconInfoCircle, IconTimelineEvent } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useThreadActions } from '../actions.js'
import type { ThreadMessage } from '../window.js'
import classes from './bubble.module.css'

const COMMON = ['👍', '❤️', '😂', '😮', '😢', '🙏']

/** Actions of a message. */
export function MessageMenu({
  message,
  opened,
  onChange,
}: {
  message: ThreadMessage
  opened: boolean
  onChange: (opened: boolean) => void
}) {
  const { t } = useTranslation('thread')
  const { mayWrite, reply, react, showInfo } = useThreadActions()
  const clipboard = useClipboard()
  // Without a WhatsApp id a message can be neither quoted nor reacted to.
  const isKnown = mayWrite && message.message_id !== null && message.changed !== 'revoked'
  return (
    <Menu
      opened={opened}
      onChange={onChange}
      position={message.sender_type === 'user-chat' ? 'bottom-start' : 'bottom-end'}
      width={252}
      withinPortal
      shadow="md"
      returnFocus
    >
      <Menu.Target>
        <ActionIcon
          size={26}
          radius="xl"
          variant="default"
          className={classes.menu}
          aria-label={t('menu')}
          tabIndex={-1}
        >
          <IconChevronDown aria-hidden size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isKnown && (
          <>
            <Emojis
              onChoose={(emoji) => {
                onChange(false)
                react(message, emoji)
              }}
            />
            <Menu.Divider />
            <Menu.Item leftSection={<IconArrowBackUp aria-hidden size={16} />} onClick={() => reply(message)}>
              {t('reply')}
            </Menu.Item>
          </>
        )}
        {message.message !== '' && (
          <Menu.Item leftSection={<IconCopy aria-hidden size={16} />} onClick={() => clipboard.copy(message.message)}>
            {t('copy')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconInfoCircle aria-hidden size={16} />} onClick={() => showInfo(message)}>
          {t('info')}
        </Menu.Item>
        <Menu.Item
          component={Link}
          to={`/messages/${message.id}`}
          leftSection={<IconTimelineEvent aria-hidden size={16} />}
        >
          {t('trace')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Six common emoji, and a field for any other. */
function Emojis({ onChoose }: { onChoose: (emoji: string) => void }) {
  const { t } = useTranslation('thread')
  const [other, setOther] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (other.trim() !== '') onChoose(other.trim())
  }
  return (
    <>
      <Group gap={2} justify="space-between" wrap="nowrap" p={4}>
        {COMMON.map((emoji) => (
          <Menu.Item
            key={emoji}
            className={classes.emoji}
            onClick={() => onChoose(emoji)}
            aria-label={t('reactWith', { emoji })}
          >
            {emoji}
          </Menu.Item>
        ))}
      </Group>
      <form onSubmit={submit}>
        <TextInput
          size="xs"
          mx={4}
          mb={4}
          value={other}
          maxLength={64}
          onChange={({ currentTarget }) => setOther(currentTarget.value)}
          // Keep the menu from handling keys that are typed here.
          onKeyDown={(event) => event.key !== 'Escape' && event.stopPropagation()}
          placeholder={t('otherEmoji')}
          aria-label={t('otherEmoji')}
        />
      </form>
    </>
  )
}
