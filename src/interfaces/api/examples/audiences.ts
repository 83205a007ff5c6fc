// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "audiences.create": [
    {
      "name": "example",
      "query": {"name": "June"},
      "body": "chatNumber,name,bodyParameters.discount\n+5511987654321,Ana Souza,20%\n12,,\n",
      "status": 201,
      "answer": {
        "success": true,
        "audience": {
          "id": "01a20000-0000-7000-8000-000000000013",
          "name": "June",
          "recipients": 1,
          "rejected": 1,
          "errors": [
            {
              "row": 3,
              "error": "Invalid field",
              "value": "12",
              "message": "chatNumber \"12\" is not a possible phone number: give it with its country code, such as +5511999990000"
            }
          ],
          "bodyParameters": ["discount"],
          "buttonParameters": [],
          "created_at": "2026-03-02T09:00:00.000Z",
          "expires_at": "2026-03-09T09:00:00.000Z"
        },
        "doubtful": []
      }
    },
    {
      "name": "missing_required_field",
      "body": "name\nBruno Lima\n",
      "status": 400,
      "answer": {
        "success": false,
        "error": "Missing required field",
        "message": "chatNumber is required: the first row of the file must name such a column, such as Phone, Mobile, WhatsApp, Telefone, Celular or Móvil, and it has \"name\""
      }
    }
  ],
  "audiences.list": [
    {
      "name": "example",
      "status": 200,
      "answer": {
        "success": true,
        "audiences": [
          {
            "id": "01a20000-0000-7000-8000-000000000013",
            "name": "June",
            "recipients": 1,
            "rejected": 1,
            "errors": [
              {
                "row": 3,
                "error": "Invalid field",
                "value": "12",
                "message": "chatNumber \"12\" is not a possible phone number: give it with its country code, such as +5511999990000"
              }
            ],
            "bodyParameters": ["discount"],
            "buttonParameters": [],
            "created_at": "2026-03-02T09:00:00.000Z",
            "expires_at": "2026-03-09T09:00:00.000Z"
          }
        ],
        "count": 1
      }
    },
    {
      "name": "invalid_api_key",
      "query": {"tenantId": "01a20000-0000-7000-8000-000000000014"},
      "status": 401,
      "answer": {
        "success": false,
        "error": "Invalid API key",
        "message": "API key does not belong to the organization that tenantId names"
      }
    }
  ],
  "audiences.get": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000013"},
      "status": 200,
      "answer": {
        "success": true,
        "audience": {
          "id": "01a20000-0000-7000-8000-000000000013",
          "name": "June",
          "recipients": 1,
          "rejected": 1,
          "errors": [
            {
              "row": 3,
              "error": "Invalid field",
              "value": "12",
              "message": "chatNumber \"12\" is not a possible phone number: give it with its country code, such as +5511999990000"
            }
          ],
          "bodyParameters": ["discount"],
          "buttonParameters": [],
          "created_at": "2026-03-02T09:00:00.000Z",
          "expires_at": "2026-03-09T09:00:00.000Z"
        }
      }
    },
    {
      "name": "audience_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000013"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Audience not found",
        "message": "No audience with the id 01a20000-0000-7000-8000-000000000013 in this organization: it may have expired"
      }
    }
  ],
  "audiences.delete": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000013"},
      "status": 200,
      "answer": {"success": true, "message": "Audience deleted"}
    },
    {
      "name": "audience_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000013"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Audience not found",
        "message": "No audience with the id 01a20000-0000-7000-8000-000000000013 in this organization: it may have expired"
      }
    }
  ]
}
