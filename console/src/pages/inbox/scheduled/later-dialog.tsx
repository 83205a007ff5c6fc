import { Button, Group, Modal, Stack } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../../../session/session.js'
import { useFormat } from '../../../shared/format.js'
import { newKey } from '../../../shared/new-key.js'
import { notifyDone } from '../../../shared/problem.js'
import StartTimePicker from '../../broadcasts/compose/schedule/start-time-picker.js'
import { localTime, toInstant } from '../../broadcasts/compose/schedule/zoned.js'

/**
 * Asks when a message is to be sent. `onSchedule` gets the time, ISO 8601, a key that stays the same while the dialog is
 * open and the time is not changed, and whether the time is still `initial`; the dialog stays open if it resolves to
 * false. `children`: further fields.
 */
export default function LaterDialog({
  title,
  initial = null,
  onSchedule,
  onClose,
  children,
}: {
  title?: string
  /** ISO 8601. */
  initial?: string | null
  onSchedule: (at: string, key: string, isInitial: boolean) => Promise<boolean>
  onClose: () => void
  children?: ReactNode
}) {
  const { t } = useTranslation('thread')
  const { dateTime } = useFormat()
  const { timezone } = useSession().organization
  const [key, setKey] = useState(newKey)
  const [isInitial, setInitial] = useState(initial !== null)
  const [at, setAt] = useState(initial && localTime(new Date(initial), timezone))
  const [complaint, setComplaint] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    // The dialog may be within the form of another one.
    event.stopPropagation()
    if (at === null) return setComplaint(t('later.needed'))
    // A local time may be two instants, and the time of one that waits may have passed.
    const instant = isInitial && initial !== null ? new Date(initial) : toInstant(at, timezone)
    if (!isInitial && instant.getTime() < Date.now()) return setComplaint(t('later.past'))
    setBusy(true)
    const isScheduled = await onSchedule(instant.toISOString(), key, isInitial)
    setBusy(false)
    if (!isScheduled) return
    notifyDone(t('later.done', { at: dateTime(instant) }))
    onClose()
  }
  const change = (value: string | null) => {
    setAt(value)
    setInitial(false)
    setKey(newKey())
    setComplaint(null)
  }
  return (
    <Modal opened onClose={onClose} title={title ?? t('later.send')} centered>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="sm">
          {children}
          <StartTimePicker value={at} error={complaint} onChange={change} />
          <Group justify="flex-end" mt="xs">
            <Button variant="default" onClick={onClose}>
              {t('cancel', { ns: 'common' })}
            </Button>
            <Button type="submit" loading={isBusy}>
              {t('later.schedule')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
