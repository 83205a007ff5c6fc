import { FileInput, Select, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { messageOf } from '../../../shared/problem.js'
import { type Change, type Draft, fileKindOf, HEADER_KINDS, type HeaderKind, variablesOf } from './draft.js'

const ACCEPTED = { image: 'image/jpeg,image/png', video: 'video/mp4', document: 'application/pdf' }
const MAX_TYPED = 500

interface HeaderFieldsProps {
  draft: Draft
  change: Change
  error: string | undefined
  /** The address of a chosen picture in this browser; null: there is none. */
  onPicture: (url: string | null) => void
}

/** The header: none, a text, an example file, or a location. */
export function HeaderFields({ draft, change, error, onPicture }: HeaderFieldsProps) {
  const { t } = useTranslation('templates')
  const { headerKind, headerText, headerExamples } = draft
  const [name] = variablesOf(headerText)
  return (
    <>
      <Select
        label={t('form.header')}
        data={HEADER_KINDS.map((kind) => ({ value: kind, label: t(`form.headers.${kind}`) }))}
        value={headerKind}
        onChange={(kind) => {
          onPicture(null)
          change({ headerKind: (kind ?? 'none') as HeaderKind, headerFile: '' })
        }}
        allowDeselect={false}
      />
      {headerKind === 'text' && (
        <TextInput
          label={t('form.headerText')}
          value={headerText}
          onChange={(event) => change({ headerText: event.currentTarget.value })}
          error={error}
          maxLength={MAX_TYPED}
          withAsterisk
        />
      )}
      {headerKind === 'text' && name !== undefined && (
        <TextInput
          label={t('form.headerExample', { name: `{{${name}}}` })}
          value={headerExamples[name] ?? ''}
          onChange={(event) => change({ headerExamples: { ...headerExamples, [name]: event.currentTarget.value } })}
          maxLength={MAX_TYPED}
          withAsterisk
        />
      )}
      <ExampleFile key={headerKind} draft={draft} change={change} error={error} onPicture={onPicture} />
    </>
  )
}

/** The example file, which is uploaded as soon as it is chosen. */
function ExampleFile({ draft, change, error, onPicture }: HeaderFieldsProps) {
  const { t } = useTranslation('templates')
  const kind = fileKindOf(draft)
  const [file, setFile] = useState<File | null>(null)
  const upload = useMutation({
    mutationFn: (chosen: File) => api.post<{ handle: string }>('/templates/examples', chosen),
    onSuccess: ({ handle }) => change({ headerFile: handle }),
  })
  useEffect(() => {
    if (!file?.type.startsWith('image/')) return
    const url = URL.createObjectURL(file)
    onPicture(url)
    return () => URL.revokeObjectURL(url)
  }, [file, onPicture])
  if (kind === null) return null
  const isKept = file === null && draft.headerFile !== ''
  return (
    <FileInput
      label={t('form.file')}
      description={`${t(isKept ? 'form.fileKept' : 'form.fileHint')} ${t(`form.fileTypes.${kind}`)}`}
      accept={ACCEPTED[kind]}
      value={file}
      onChange={(chosen) => {
        setFile(chosen)
        onPicture(null)
        change({ headerFile: '' })
        if (chosen) upload.mutate(chosen)
      }}
      error={upload.isError ? messageOf(upload.error) : error}
      disabled={upload.isPending}
      clearable
      clearButtonProps={{ 'aria-label': t('remove', { ns: 'common' }) }}
      withAsterisk
    />
  )
}
