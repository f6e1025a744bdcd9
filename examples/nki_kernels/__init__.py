"""Kernels of our own after the call patterns of public NKI kernels.

They are written as for the device: ``import nki``, nothing of lanewise. To import them where the
vendor's toolchain is not installed, call ``lanewise.nki.install()`` first, or run a script with
``python -m lanewise.nki``.
"""
