import { useLocalStorage } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { LiveEvent } from '../../../src/model/conversations/inbox.js'
import { useLive } from '../api/live.js'
import { nameOf } from '../pages/inbox/contact/contact-name.js'

/** The latest events that any tab has alerted of or shown. */
const ALERTED = 'parley.alerted'
/** Number of remembered events: more do not arrive while a tab waits. */
const MAX_ALERTED = 50
/** Delay in which a tab in the background leaves the event to the focused one. */
const WAIT_MS = 150

/** Whether desktop notifications are on, in this browser. */
export const useDesktopAlerts = () => useSwitch('parley.notify')

/** Whether the sound is on, in this browser. */
export const useSoundAlerts = () => useSwitch('parley.sound')

function useSwitch(key: string) {
  return useLocalStorage({ key, defaultValue: false, getInitialValueInEffect: false })
}

/** Whether the browser supports notifications: some phones do not, and they need a secure context. */
export const hasNotifications = (): boolean => 'Notification' in window

/** Alerts of messages that arrive while the page is not focused. */
export function useAlerts(): void {
  const { t } = useTranslation('inbox')
  const navigate = useNavigate()
  const [isShown] = useDesktopAlerts()
  const [isHeard] = useSoundAlerts()
  useLive((event) => {
    const { type, id, contact, message } = event
    if (type !== 'message.received' || !contact || !message || contact.blocked) return
    if (!isShown && !isHeard) return
    if (document.hasFocus()) {
      claim(id)
      return
    }
    setTimeout(() => {
      if (!claim(id)) return
      if (isHeard) chime()
      if (isShown && hasNotifications() && Notification.permission === 'granted') {
        show(event, nameOf(contact), message.message || t('alerts.message'), () => navigate(`/inbox/${contact.id}`))
      }
    }, WAIT_MS)
  })
}

/** Claims an event for this tab. False if another tab has claimed it, since all tabs receive every event. */
function claim(id: string): boolean {
  const others = localStorage.getItem(ALERTED)?.split(' ') ?? []
  if (others.includes(id)) return false
  localStorage.setItem(ALERTED, [...others, id].slice(-MAX_ALERTED).join(' '))
  return true
}

function show({ id, contact_id }: LiveEvent, title: string, text: string, open: () => void): void {
  // A later message of the same contact replaces the notification.
  const options = { body: text.slice(0, 200), tag: contact_id ?? id, icon: '/console/icon.svg' }
  const notification = new Notification(title, options)
  notification.onclick = () => {
    window.focus()
    notification.close()
    open()
  }
}

/** Plays two soft notes. Browsers play no sound before the first click on the page. */
function chime(): void {
  const audio = new AudioContext()
  for (const [index, frequency] of [660, 880].entries()) {
    const at = audio.currentTime + index * 0.12
    const tone = new OscillatorNode(audio, { frequency })
    const volume = new GainNode(audio, { gain: 0 })
    volume.gain.linearRampToValueAtTime(0.12, at + 0.02)
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.3)
    tone.connect(volume).connect(audio.destination)
    tone.start(at)
    tone.stop(at + 0.3)
    if (index === 1) tone.onended = () => void audio.close()
  }
}
