import { Button, Group, Textarea } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { IconNote } from '@tabler/icons-react'
import {
  type ClipboardEvent,
  type KeyboardEvent,
  lazy,
  type Ref,
  type RefObject,
  Suspense,
  useEffect,
  useImperativeHandle,
  useRef,
} from 'react'
import { useTranslation } from 'react-i18next'
import { nameOf } from '../../contact/contact-name.js'
import { LaterDialog } from '../../scheduled/later.js'
import { ReplyBar } from '../../thread/message/quote.js'
import { quoteOf } from '../../thread/window.js'
import { AttachmentStrip } from '../attachments/attachment-strip.js'
import { useAttachments } from '../attachments/use-attachments.js'
import classes from '../composer.module.css'
import type { Draft } from '../drafts.js'
import type { SendRequest } from '../pending-sends.js'
import { ReplyWindowLeft } from '../reply-window-left.js'
import type { Route } from '../requests.js'
import type { ReplyWindow } from '../use-reply-window.js'
import { EditorBar } from './editor-bar.js'
import { Tools } from './tools.js'
import { useWriting } from './use-writing.js'

const DropTarget = lazy(() => import('../attachments/drop-target.js'))

/** On wider screens than a phone's, focus does not open a keyboard over the messages. */
const WIDE = '(min-width: 48em)'

/** Imperative methods of the editor. */
export interface EditorHandle {
  focus: () => void
}

interface EditorProps {
  route: Route
  draft: Draft
  onDraft: (change: Partial<Draft>) => void
  /** Whether only notes can be written. */
  isClosed: boolean
  window: ReplyWindow | null
  onSend: (request: SendRequest) => void
  onNote: () => void
  onTemplate: (() => void) | null
  ref: Ref<EditorHandle>
}

/** The field for messages and notes, with attachments and tools. */
export function Editor(props: EditorProps) {
  const { route, draft, onDraft, isClosed, window: replyWindow, onSend, onNote, onTemplate, ref } = props
  const { t } = useTranslation('thread')
  const field = useRef<HTMLTextAreaElement>(null)
  const attachments = useAttachments()
  const focus = () => field.current?.focus()
  const { isNote, replyTo } = draft
  const writing = useWriting({ route, draft, onDraft, attachments, isClosed, onSend, onNote, onDone: focus })

  const [isLater, later] = useDisclosure(false)

  useImperativeHandle(ref, () => ({ focus }))
  const hasField = isNote || !isClosed
  useFirstFocus(field, hasField)
  const toggleNote = () => {
    onDraft({ isNote: !isNote })
    // The field may have just appeared.
    setTimeout(focus)
  }
  useHotkeys([['ctrl+alt+N', toggleNote]], [])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && replyTo) {
      event.stopPropagation()
      onDraft({ replyTo: null })
    }
    const isPlain = !event.shiftKey && !event.nativeEvent.isComposing
    // A phone's keyboard has no other key for a line break.
    if (event.key !== 'Enter' || !isPlain || globalThis.matchMedia('(pointer: coarse)').matches) return
    event.preventDefault()
    writing.submit()
  }
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files]
    if (files.length === 0 || isNote) return
    event.preventDefault()
    void attachments.add(files)
  }

  if (!hasField) return <WriteNote onClick={toggleNote} />
  const placeholder = isNote ? t('notePlaceholder') : attachments.all.length > 0 ? t('caption') : t('placeholder')
  return (
    <div className={classes.editor} data-note={isNote || undefined}>
      {replyTo && !isNote && (
        <div className={classes.reply}>
          <ReplyBar
            quoted={quoteOf(replyTo)}
            contactName={nameOf(route.contact)}
            onClose={() => onDraft({ replyTo: null })}
          />
        </div>
      )}
      {attachments.all.length > 0 && !isNote && <AttachmentStrip attachments={attachments} />}
      <Textarea
        ref={field}
        variant="unstyled"
        autosize
        minRows={1}
        maxRows={8}
        value={writing.text}
        onChange={({ currentTarget }) => writing.setText(currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        placeholder={placeholder}
        aria-label={isNote ? t('noteField') : t('messageField')}
        classNames={{ input: classes.field }}
      />
      <EditorBar
        writing={writing}
        isNote={isNote}
        onToggleNote={toggleNote}
        onLater={later.open}
        tools={<Tools route={route} attachments={attachments} onSend={onSend} onTemplate={onTemplate} />}
        windowLeft={replyWindow && <ReplyWindowLeft window={replyWindow} />}
      />
      {isLater && (
        <Suspense>
          <LaterDialog onSchedule={writing.sendLater} onClose={later.close} />
        </Suspense>
      )}
      {!isNote && (
        <Suspense>
          <DropTarget onFiles={(files) => void attachments.add(files)} />
        </Suspense>
      )}
    </div>
  )
}

/** Shown instead of the field while no messages can be sent. */
function WriteNote({ onClick }: { onClick: () => void }) {
  const { t } = useTranslation('thread')
  return (
    <Group px="xs" pb={4}>
      <Button size="compact-sm" variant="subtle" leftSection={<IconNote aria-hidden size={16} />} onClick={onClick}>
        {t('writeNote')}
      </Button>
    </Group>
  )
}

/** Focuses the field when it first appears, which is when the reply channel is known. */
function useFirstFocus(field: RefObject<HTMLTextAreaElement | null>, hasField: boolean): void {
  const hadField = useRef(false)
  useEffect(() => {
    if (!hasField || hadField.current) return
    hadField.current = true
    if (globalThis.matchMedia(WIDE).matches && !isBusyElsewhere()) field.current?.focus()
  }, [field, hasField])
}

/** Whether the focus is in another input, or a dialog is open. */
function isBusyElsewhere(): boolean {
  const { activeElement } = document
  return activeElement?.matches('input, textarea') || document.querySelector('[aria-modal="true"]') !== null
}
