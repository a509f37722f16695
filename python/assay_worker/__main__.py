# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
import sys

from assay_worker.worker import main

sys.exit(main(sys.argv))
