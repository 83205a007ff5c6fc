import type { SentenceCode } from '../../../../src/model/sentence.js'
import type { ProblemTexts } from './describe-problem.js'
import { notices } from './pt-notices.js'

/** By error name. */
const names: Record<string, string> = {
  'Insufficient scope': 'Sua função na equipe não permite isso. Peça a um proprietário da organização.',
  'Sign-in required': 'Sua sessão expirou. Entre de novo.',
  'Sign-in failed': 'Organização, e-mail ou senha não conferem. Confira os três e tente de novo.',
  'Invalid link': 'O link não é mais válido. Peça um novo a um proprietário da organização.',
  'Too many requests': 'Muitas solicitações em pouco tempo. Espere um pouco e tente de novo.',
  'Unsupported media type': 'Este tipo de conteúdo não é aceito.',
  'Payload too large': 'O conteúdo é grande demais.',
  'Missing required field': 'O valor é obrigatório.',
  'Missing required parameter': 'O valor é obrigatório.',
  'Invalid media': 'O arquivo não pôde ser usado. Confira o endereço, o tipo e o tamanho.',
  'Invalid message type': 'Este tipo de mensagem não é aceito.',
  'Invalid provider': 'A organização não tem um número da API do WhatsApp. Conecte um nas configurações.',
  'Contact not found': 'O contato não existe mais nesta organização.',
  'Contact already exists': 'Já existe um contato com este número.',
  'Contact blocked': 'O contato está bloqueado. Não é possível enviar mensagens.',
  'Contact not reachable': 'Não é possível escrever a este contato por este canal: é um grupo ou não tem mais número.',
  'Contact opted out': 'O contato não recebe campanhas.',
  'Later merge': 'Outro contato foi unido a este depois. Desfaça primeiro a última união.',
  'Merge too large': 'Os dois contatos têm mensagens demais para serem separados.',
  'Message not found': 'A mensagem não existe mais nesta conversa.',
  'Template not found': 'O modelo não existe ou ainda não foi aprovado. Atualize os modelos.',
  'Audience not found': 'A lista não existe mais. Escolha o arquivo de novo.',
  'Too many audiences': 'A organização já guarda o máximo de listas. Espere uma expirar, ou exclua uma pela API.',
  'Broadcast not found': 'A campanha não existe mais.',
  'Invalid broadcast state': 'A situação da campanha mudou. Atualize a página.',
  'Webhook not found': 'O webhook não existe mais.',
  'Delivery not found': 'A entrega não existe mais.',
  'Webhook disabled': 'O webhook está desativado. Ative-o primeiro.',
  'Too many webhooks': 'A organização já tem o máximo de webhooks. Remova um primeiro.',
  'Order not found': 'A loja não tem um pedido com este número.',
  'Storefront not connected': 'Nenhuma loja está conectada. Conecte uma nas configurações.',
  'Storefront credentials rejected': 'A loja recusou o token de acesso. Um proprietário precisa definir outro.',
  'Storefront unavailable': 'A loja não respondeu. Tente de novo daqui a pouco.',
  'API key not found': 'A chave não existe mais.',
  'API key not active': 'A chave já foi revogada ou venceu.',
  'Member not found': 'Este membro não faz mais parte da equipe.',
  'Last owner': 'A organização precisa de ao menos um proprietário. Nomeie outro primeiro.',
  'Instance not found': 'A instância não existe mais.',
  'Connection Closed': 'O canal está desconectado. Conecte a instância de novo.',
  'Instance not connected': 'A instância não está conectada.',
  'Instance already exists': 'Já existe uma instância com este nome.',
  'Not supported': 'Este canal não permite isso.',
  'Number not on the network': 'Este número não está no WhatsApp.',
  Forbidden: 'Isso não é permitido.',
  'Legal hold': 'A organização está sob retenção legal: nada pode ser excluído até o operador do serviço liberar.',
  'Already taken': 'Isso já está em uso. Escolha outro.',
  'Upstream credentials rejected': 'O WhatsApp recusou o token de acesso. Um proprietário precisa definir outro.',
  'Upstream unavailable': 'O WhatsApp não respondeu e nada foi enviado. Tente de novo.',
  'Upstream upload failed': 'O WhatsApp não aceitou o arquivo.',
  'Outcome unknown': 'O WhatsApp não confirmou a mensagem. Ela pode ter sido entregue: não envie de novo.',
  'Request in progress': 'A solicitação anterior ainda está em andamento.',
  'Not found': 'Não encontrado. Talvez tenha sido excluído.',
  'Service unavailable': 'O serviço está sobrecarregado ou reiniciando. Tente de novo daqui a pouco.',
  'Internal server error':
    'Algo deu errado no serviço. Tente de novo. Se o erro continuar, avise o operador do serviço.',
}

const sentences: Record<SentenceCode, string> = {
  ...notices,
  whole_number: 'O valor deve ser um número inteiro de {minimum} a {maximum}.',
  one_of: 'O valor deve ser um destes: {names}.',
  at_most: 'O valor deve ter no máximo {limit} caracteres.',
  at_least: 'O valor deve ter pelo menos {limit} caracteres.',
  not_empty: 'O valor é obrigatório.',
  items_at_most: 'O valor aceita no máximo {limit} itens, não {given}.',
  email: 'O valor deve ser um endereço de e-mail.',
  uri: 'O valor deve ser um endereço completo, como https://exemplo.com.br.',
  shop_url: 'O valor deve ser um endereço completo, como https://exemplo.com.br.',
  link_target: 'O valor deve ser um endereço completo, como https://exemplo.com.br.',
  phone_number: '“{given}” não é um número de telefone: escreva com o código do país, como +5511999990000.',
  rounded_number:
    'Uma planilha arredondou “{given}”, e os últimos dígitos se perderam: formate a coluna como texto e digite o número de novo.',
  not_callable:
    'O valor deve ser um endereço completo e público, como https://exemplo.com.br: redes privadas não são aceitas.',
  no_number_column:
    'Falta uma coluna com os números, chamada, por exemplo, Telefone, Celular ou WhatsApp. A primeira linha tem {headings}.',
  repeated_column: 'O cabeçalho tem a coluna {column} duas vezes.',
  long_row: 'A linha tem {cells} células, e o cabeçalho {columns}: ponha entre aspas a célula que contém o separador.',
  too_many_renumbered:
    '{messages} mensagens voltariam ou mudariam de número, e no máximo {limit} podem: os dois continuam um só contato.',
  unreadable_row: 'A linha {row} do arquivo tem aspas que não terminam.',
  not_text: 'O arquivo não é um texto: salve a planilha como “CSV UTF-8”.',
  mixed_encoding: 'A linha {line} do arquivo não está em UTF-8, e a maior parte do arquivo está.',
}

/** The service's errors in Portuguese. */
export const problems: ProblemTexts = {
  sentences,
  names,
  general: 'Um valor não foi aceito. Confira os campos.',
}
