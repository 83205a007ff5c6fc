import { ActionIcon, Group, Slider, Text, VisuallyHidden } from '@mantine/core'
import { IconMicrophone, IconPlayerPauseFilled, IconPlayerPlayFilled } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { clock } from '../../../../../shared/format.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { FileState } from './file-state.js'

/** A voice note or other audio, with its transcription. */
export function Audio({ message, isVoice }: { message: ThreadMessage; isVoice: boolean }) {
  const { t } = useTranslation('thread')
  const { media_url: url, voice_note_transcription: transcription } = message
  return (
    <>
      {url === null ? (
        <FileState message={message} />
      ) : (
        <Player url={url} isVoice={isVoice || transcription !== null} />
      )}
      {transcription && (
        <div className={classes.transcription}>
          <VisuallyHidden>{t('transcription')}: </VisuallyHidden>
          {transcription}
        </div>
      )}
    </>
  )
}

/** An audio player that fits into a bubble. */
export function Player({ url, isVoice }: { url: string; isVoice: boolean }) {
  const { t } = useTranslation('thread')
  const audio = useRef<HTMLAudioElement>(null)
  const [isPlaying, setPlaying] = useState(false)
  const [at, setAt] = useState(0)
  const [length, setLength] = useState(0)
  const toggle = () => void (isPlaying ? audio.current?.pause() : audio.current?.play())
  const seek = (seconds: number) => {
    if (audio.current) audio.current.currentTime = seconds
    setAt(seconds)
  }
  const name = t(isVoice ? 'kinds.voice' : 'kinds.audio')
  return (
    <Group gap="xs" wrap="nowrap" className={classes.player} role="group" aria-label={name}>
      {/* biome-ignore lint/a11y/useMediaCaption: the transcription, if any, is below the player */}
      <audio
        ref={audio}
        src={url}
        preload="metadata"
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onEnded={() => seek(0)}
        onTimeUpdate={({ currentTarget }) => setAt(currentTarget.currentTime)}
        onDurationChange={({ currentTarget }) => setLength(finite(currentTarget.duration))}
      />
      <ActionIcon
        size={38}
        radius="xl"
        onClick={toggle}
        aria-label={isPlaying ? t('pause', { what: name }) : t('play', { what: name })}
      >
        {isPlaying ? <IconPlayerPauseFilled aria-hidden size={18} /> : <IconPlayerPlayFilled aria-hidden size={18} />}
      </ActionIcon>
      <Slider
        flex={1}
        size={4}
        thumbSize={12}
        min={0}
        max={length || 1}
        step={0.1}
        value={at}
        onChange={seek}
        label={null}
        classNames={{ track: classes.track }}
        thumbLabel={t('position')}
      />
      <Group gap={2} wrap="nowrap">
        {isVoice && <IconMicrophone aria-hidden size={14} className={classes.dim} />}
        <Text size="xs" className={classes.dim} ff="monospace">
          {clock(at > 0 ? at : length)}
        </Text>
      </Group>
    </Group>
  )
}

/** Recordings of browsers have no duration until they are played. */
function finite(seconds: number): number {
  return Number.isFinite(seconds) ? seconds : 0
}
