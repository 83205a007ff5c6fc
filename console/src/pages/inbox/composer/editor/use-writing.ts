import { useRef, useState } from 'react'
import { api } from '../../../../api/client.js'
import { notifyError } from '../../../../shared/problem.js'
import { TEXT_LIMITS } from '../attachments/limits.js'
import type { Attachments } from '../attachments/use-attachments.js'
import type { Draft } from '../drafts.js'
import { type SendRequest, schedule } from '../pending-sends.js'
import { chatRequest, fileRequest, type Route } from '../requests.js'
import { showTyping } from './show-typing.js'

/** The draft of a message or note, and how to send it. */
export interface Writing {
  text: string
  setText: (value: string) => void
  /** Remaining characters; negative if the text is too long. */
  left: number
  maySend: boolean
  isBusy: boolean
  submit: () => void
  /** Schedules the message for a time, ISO 8601; `key` as in pending-sends. Resolves to false if it was refused. */
  sendLater: (at: string, key: string) => Promise<boolean>
}

/** A message, or a note for the team. */
export function useWriting({
  route,
  draft,
  onDraft,
  attachments,
  isClosed,
  onSend,
  onNote,
  onDone,
}: {
  route: Route
  draft: Draft
  onDraft: (change: Partial<Draft>) => void
  attachments: Attachments
  isClosed: boolean
  onSend: (request: SendRequest) => void
  onNote: () => void
  /** Called when the text was sent or saved, or that failed. */
  onDone: () => void
}): Writing {
  const [isBusy, setBusy] = useState(false)
  const { isNote } = draft
  const newest = useRef(draft)
  newest.current = draft
  const text = isNote ? draft.note : draft.text
  const hasFiles = attachments.all.length > 0
  const limit = isNote ? TEXT_LIMITS.note : hasFiles ? TEXT_LIMITS.caption : TEXT_LIMITS.text
  const left = limit - [...text].length
  const isEmpty = text.trim() === '' && (isNote || !hasFiles)
  const maySend = !isEmpty && left >= 0 && !isBusy && (isNote || !isClosed)

  const saveNote = async () => {
    setBusy(true)
    onDraft({ note: '' })
    try {
      await api.post(`/contacts/${route.contact.id}/notes`, { text: text.trim() })
      onNote()
    } catch (error) {
      // Keep what was written in the meantime.
      if (newest.current.note === '') onDraft({ note: text })
      notifyError(error)
    } finally {
      setBusy(false)
      onDone()
    }
  }
  const sendMessage = () => {
    for (const request of toRequests(route, text.trim(), attachments.take())) onSend(request)
    onDraft({ text: '', replyTo: null })
    onDone()
  }
  const submit = () => {
    if (!maySend) return
    if (isNote) void saveNote()
    else sendMessage()
  }
  const sendLater = async (scheduledAt: string, key: string) => {
    const files = attachments.all
    const requests = toRequests({ ...route, scheduledAt }, text.trim(), files)
    const parts = requests.map((request, index) => {
      const file = files[index]
      // What was accepted leaves the draft, so that it is not sent again if a later one is refused.
      const onAccepted = () => {
        if (file) attachments.remove(file.key)
        onDraft({ replyTo: null, ...(file && file !== captionedOf(files) ? {} : { text: '' }) })
      }
      return { request, name: file?.key ?? 'text', onAccepted }
    })
    try {
      await schedule(parts, key)
      return true
    } catch (error) {
      notifyError(error)
      return false
    }
  }
  const setText = (value: string) => {
    if (!isNote && !isClosed && value.trim() !== '') showTyping(route)
    onDraft(isNote ? { note: value } : { text: value })
  }
  return { text, setText, left, maySend, isBusy, submit, sendLater }
}

/**
 * The text becomes the caption of the first file that can have one, else a message of its own. Only the first message
 * is a reply.
 */
function toRequests(route: Route, text: string, files: Attachments['all']): SendRequest[] {
  const captioned = captionedOf(files)
  const requests: ((route: Route) => SendRequest)[] = files.map(
    (attachment) => (to: Route) => fileRequest(to, attachment, attachment === captioned ? text : ''),
  )
  if (!captioned && text !== '') {
    requests.push((to) => chatRequest(to, { text }, { message_type: 'text', message: text }))
  }
  return requests.map((request, index) => request(index === 0 ? route : { ...route, replyTo: null }))
}

/** The file that has the text as its caption. */
function captionedOf(files: Attachments['all']): Attachments['all'][number] | undefined {
  return files.find(({ kind, isSticker }) => kind !== 'audio' && !isSticker)
}
