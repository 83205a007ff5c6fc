import { CloseButton, Group, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useThreadActions } from '../actions.js'
import type { ThreadMessage } from '../window.js'
import classes from './bubble.module.css'
import { useAuthor, useDescribe } from './describe.js'

type Quoted = NonNullable<ThreadMessage['context']>

/** The quoted message. A click jumps to it. */
export function Quote({ quoted }: { quoted: Quoted }) {
  const { goTo, contactName } = useThreadActions()
  const { t } = useTranslation('thread')
  const { seq } = quoted
  if (seq === null) return <QuotedText quoted={quoted} contactName={contactName} />
  return (
    <UnstyledButton className={classes.quoteButton} onClick={() => goTo(seq)}>
      <VisuallyHidden component="span">{t('goToQuoted')}: </VisuallyHidden>
      <QuotedText quoted={quoted} contactName={contactName} />
    </UnstyledButton>
  )
}

/** The message that is being replied to, above the composer. */
export function ReplyBar({
  quoted,
  contactName,
  onClose,
}: {
  quoted: Quoted
  contactName: string
  onClose: () => void
}) {
  const { t } = useTranslation('thread')
  return (
    <Group gap="xs" wrap="nowrap" role="group" aria-label={t('replyingTo')}>
      <QuotedText quoted={quoted} contactName={contactName} />
      <CloseButton onClick={onClose} aria-label={t('cancelReply')} />
    </Group>
  )
}

function QuotedText({ quoted, contactName }: { quoted: Quoted; contactName: string }) {
  const describe = useDescribe()
  const author = useAuthor(contactName)
  return (
    <div className={classes.quote} data-side={quoted.sender_type === 'user-chat' ? 'theirs' : 'ours'}>
      <Text size="xs" fw={600} truncate className={classes.quoteAuthor}>
        {author(quoted)}
      </Text>
      <Text size="xs" lineClamp={2} className={classes.quoteText}>
        {describe(quoted)}
      </Text>
    </div>
  )
}
