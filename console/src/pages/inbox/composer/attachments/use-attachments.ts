import { notifications } from '@mantine/notifications'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../../shared/format.js'
import { type Attachment, type FileProblem, prepareFile } from './prepare-file.js'

/** Files attached to the next message. */
export interface Attachments {
  all: Attachment[]
  add: (files: File[], isRecorded?: boolean) => Promise<void>
  change: (key: string, changes: Partial<Pick<Attachment, 'isVoice' | 'isSticker'>>) => void
  remove: (key: string) => void
  /** Removes and returns all files, to send them. */
  take: () => Attachment[]
}

/** Maximum number of files at once. */
const MAX_FILES = 10

/** Keeps files until they are sent. Files that cannot be sent are refused with a notification. */
export function useAttachments(): Attachments {
  const { t } = useTranslation('thread')
  const format = useFormat()
  const [all, setAll] = useState<Attachment[]>([])
  // The current files: several may become ready before the next render.
  const held = useRef(all)
  const isGone = useRef(false)
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
      revoke(held.current)
    }
  }, [])
  const hold = (attachments: Attachment[]) => {
    held.current = attachments
    setAll(attachments)
  }

  const complain = (file: File, problem: FileProblem) =>
    notifications.show({
      color: 'red',
      title: t('fileRefused', { name: file.name }),
      message: t(`fileProblems.${problem.reason}`, {
        limit: problem.reason === 'size' ? format.bytes(problem.maxBytes) : '',
      }),
      autoClose: 10_000,
    })
  const complainOfMany = () =>
    notifications.show({
      color: 'red',
      title: t('tooManyFiles'),
      message: t('tooManyFilesHint', { limit: MAX_FILES }),
      autoClose: 10_000,
    })
  return {
    all,
    add: async (files, isRecorded = false) => {
      for (const file of files) {
        const ready = await prepareFile(file, isRecorded)
        if ('reason' in ready) {
          complain(file, ready)
        } else if (isGone.current || held.current.length >= MAX_FILES) {
          revoke([ready])
          if (!isGone.current) complainOfMany()
          return
        } else {
          hold([...held.current, ready])
        }
      }
    },
    change: (key, changes) =>
      hold(held.current.map((attachment) => (attachment.key === key ? { ...attachment, ...changes } : attachment))),
    remove: (key) => {
      revoke(held.current.filter((attachment) => attachment.key === key))
      hold(held.current.filter((attachment) => attachment.key !== key))
    },
    take: () => {
      const taken = held.current
      hold([])
      revoke(taken)
      return taken
    },
  }
}

function revoke(attachments: Attachment[]): void {
  for (const { url } of attachments) URL.revokeObjectURL(url)
}
